#include "core/base/memory_pool.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>

namespace slipway {
namespace {

TEST(MemoryPool, GivesAFreedBlockOutAgain) {
  MemoryPool pool;
  void* first = pool.allocate(100'000);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(first) % 64, 0u);
  std::memset(first, 1, 100'000);
  MemoryPool::release(first);
  EXPECT_EQ(pool.allocate(99'000), first);  // a size that shares its block
  EXPECT_EQ(pool.counts().from_system, 1);
  MemoryPool::release(first);
}

TEST(MemoryPool, Counts) {
  MemoryPool pool;
  EXPECT_EQ(pool.allocate(0), nullptr);
  MemoryPool::release(nullptr);
  void* a = pool.allocate(1 << 20);
  void* b = pool.allocate(1 << 20);
  EXPECT_EQ(pool.counts().in_use, 2 << 20);
  MemoryPool::release(a);
  EXPECT_EQ(pool.counts().in_use, 1 << 20);
  EXPECT_EQ(pool.counts().kept, 1 << 20);
  EXPECT_EQ(pool.counts().peak, 2 << 20);
  pool.reset_peak();
  EXPECT_EQ(pool.counts().peak, 1 << 20);
  pool.trim();
  EXPECT_EQ(pool.counts().kept, 0);
  MemoryPool::release(b);
}

TEST(MemoryPool, LetsGoOfSizesThatAreAskedForNoMore) {
  MemoryPool pool;
  for (size_t size = 1 << 20; size < (200u << 20); size += 1 << 20) MemoryPool::release(pool.allocate(size));
  EXPECT_LT(pool.counts().kept, int64_t{600} << 20);  // of 20 GiB that were asked for one after the other
}

TEST(MemoryPool, BlocksMayBeReleasedOnAnyThread) {
  MemoryPool pool;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&pool, t] {
      for (size_t i = 1; i < 500; ++i) {
        auto* block = static_cast<unsigned char*>(pool.allocate(i * 97));
        std::memset(block, t, i * 97);
        EXPECT_EQ(block[i * 97 - 1], t);
        MemoryPool::release(block);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(pool.counts().in_use, 0);
}

}  // namespace
}  // namespace slipway
