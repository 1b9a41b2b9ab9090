// Tokenizer "byte": every byte is a token, ids 0 to 255; special ids follow. What the dataset "text" gives.
#include <slipway/sdk.hpp>

namespace {

constexpr slw::NoOptions kOptions{};
constexpr int64_t kEod = 256, kPad = 257, kCls = 258, kSep = 259, kMask = 260, kVocabSize = 261;

class Byte {
 public:
  Byte(slw::Host, const slw::Config&) {}

  slw_tokenizer_info info() const {
    slw_tokenizer_info info = slw::tokenizer_info(kVocabSize);
    info.eod_id = kEod;
    info.pad_id = kPad;
    info.cls_id = kCls;
    info.sep_id = kSep;
    info.mask_id = kMask;
    return info;
  }

  std::vector<int64_t> encode(const char* text, std::size_t size) const {
    std::vector<int64_t> ids(size);
    for (std::size_t i = 0; i < size; ++i) ids[i] = static_cast<unsigned char>(text[i]);
    return ids;
  }

  std::string decode(const int64_t* ids, std::size_t count) const {
    std::string text;
    text.reserve(count);
    for (std::size_t i = 0; i < count; ++i) {
      if (ids[i] < kEod) text.push_back(static_cast<char>(ids[i]));
    }
    return text;
  }
};

constexpr slw_component kByte = slw::tokenizer<Byte>({"byte", "Bytes, and five special ids after them."}, kOptions);
constexpr slw::About kAbout{"org.slipway.byte", "0.1.0", "Slipway"};

}  // namespace

SLW_PLUGIN(kAbout, &kByte);
