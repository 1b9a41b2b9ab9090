"""The model of gpt_384.json in plain eager PyTorch, trained as plainly: AdamW, clip 1.0, made-up tokens.

eager.py STEPS THREADS prints the seconds of each step, one a line.
"""
import sys
import time

import torch
import torch.nn.functional as F
from torch import nn

LAYERS, HIDDEN, HEADS, SEQUENCE, BATCH, VOCAB = 6, 384, 6, 256, 12, 256


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(HIDDEN), nn.LayerNorm(HIDDEN)
        self.qkv, self.out = nn.Linear(HIDDEN, 3 * HIDDEN), nn.Linear(HIDDEN, HIDDEN)
        self.up, self.down = nn.Linear(HIDDEN, 4 * HIDDEN), nn.Linear(4 * HIDDEN, HIDDEN)

    def forward(self, x):
        batch, length, _ = x.shape
        heads = [t.view(batch, length, HEADS, -1).transpose(1, 2) for t in self.qkv(self.norm1(x)).chunk(3, -1)]
        attended = F.scaled_dot_product_attention(*heads, is_causal=True)
        x = x + self.out(attended.transpose(1, 2).reshape(batch, length, HIDDEN))
        return x + self.down(F.gelu(self.up(self.norm2(x))))


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens, self.positions = nn.Embedding(VOCAB, HIDDEN), nn.Embedding(SEQUENCE, HIDDEN)
        self.blocks = nn.Sequential(*[Block() for _ in range(LAYERS)])
        self.norm, self.head = nn.LayerNorm(HIDDEN), nn.Linear(HIDDEN, VOCAB, bias=False)
        for weight in self.parameters():
            if weight.dim() > 1:
                nn.init.normal_(weight, std=0.02)

    def forward(self, tokens):
        return self.head(self.norm(self.blocks(self.tokens(tokens) + self.positions.weight)))


def main():
    steps, threads = int(sys.argv[1]), int(sys.argv[2])
    fused = "fused" in sys.argv[3:]
    torch.set_num_threads(threads)
    torch.manual_seed(1234)
    model = Model()
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4, betas=(0.9, 0.999), weight_decay=0.01, fused=fused or None)
    for _ in range(steps):
        start = time.perf_counter()
        first = torch.randint(0, VOCAB, (BATCH, 1))
        tokens = (first + 7 * torch.arange(SEQUENCE + 1)) % VOCAB  # what the dataset "mock" makes, without its noise
        loss = F.cross_entropy(model(tokens[:, :-1]).view(-1, VOCAB), tokens[:, 1:].reshape(-1))
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        loss.item()
        print(time.perf_counter() - start, flush=True)


if __name__ == "__main__":
    main()
