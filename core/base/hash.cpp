#include "core/base/hash.h"

#include <openssl/evp.h>
#include <xxhash.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <vector>

namespace slipway {
namespace {

constexpr std::size_t kBlockBytes = std::size_t{1} << 20;

template <class Update>
void for_each_block(const std::string& path, ExitCode blame, Update&& update) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rbe"), &std::fclose);
  if (!file) throw Error(blame, "cannot read " + path + ": " + std::strerror(errno));
  std::vector<char> block(kBlockBytes);
  while (const std::size_t got = std::fread(block.data(), 1, block.size(), file.get())) update(block.data(), got);
  if (std::ferror(file.get())) throw Error(blame, "cannot read " + path + ": " + std::strerror(errno));
}

class Sha256 {
 public:
  Sha256() : context_(EVP_MD_CTX_new(), &EVP_MD_CTX_free) {
    SLW_CHECK(context_ && EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr) == 1);
  }
  void update(const void* data, std::size_t bytes) { SLW_CHECK(EVP_DigestUpdate(context_.get(), data, bytes) == 1); }
  std::string hex() {
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
    unsigned int size = 0;
    SLW_CHECK(EVP_DigestFinal_ex(context_.get(), digest.data(), &size) == 1);
    std::string text;
    for (unsigned int i = 0; i < size; ++i) {
      text += "0123456789abcdef"[digest[i] >> 4];
      text += "0123456789abcdef"[digest[i] & 15];
    }
    return text;
  }

 private:
  std::unique_ptr<EVP_MD_CTX, void (*)(EVP_MD_CTX*)> context_;
};

}  // namespace

std::string sha256_hex(std::string_view bytes) {
  Sha256 hash;
  hash.update(bytes.data(), bytes.size());
  return hash.hex();
}

std::string sha256_hex_of_file(const std::string& path, ExitCode blame) {
  Sha256 hash;
  for_each_block(path, blame, [&](const char* data, std::size_t bytes) { hash.update(data, bytes); });
  return hash.hex();
}

std::uint64_t xxh3_64(const void* data, std::size_t bytes) { return XXH3_64bits(data, bytes); }

std::uint64_t xxh3_64_of_file(const std::string& path, ExitCode blame) {
  const std::unique_ptr<XXH3_state_t, XXH_errorcode (*)(XXH3_state_t*)> state(XXH3_createState(), &XXH3_freeState);
  SLW_CHECK(state && XXH3_64bits_reset(state.get()) == XXH_OK);
  for_each_block(path, blame, [&](const char* data, std::size_t bytes) {
    SLW_CHECK(XXH3_64bits_update(state.get(), data, bytes) == XXH_OK);
  });
  return XXH3_64bits_digest(state.get());
}

std::string hex64(std::uint64_t value) {
  std::array<char, 17> text{};
  std::snprintf(text.data(), text.size(), "%016llx", static_cast<unsigned long long>(value));
  return text.data();
}

}  // namespace slipway
