// Carries the precompiled header of LibTorch code; has nothing of its own.
