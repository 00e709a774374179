// SPDX-License-Identifier: Apache-2.0
// A document is parsed once. Only when it is refused is it gone through again, to find the byte.
#include "formats/read.h"

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <iterator>
#include <memory>
#include <optional>
#include <system_error>
#include <vector>

namespace tensorscope::formats {
namespace {

/// Deeper documents are refused: writing them again would take the stack.
constexpr std::size_t kMostDepth = 256;

/// Walks over a text and tells how far the parser is.
class CountingIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  CountingIterator(const char* at, const char** furthest) : at_(at), furthest_(furthest) {}
  reference operator*() const { return *at_; }
  CountingIterator& operator++() {
    *furthest_ = ++at_;
    return *this;
  }
  bool operator==(const CountingIterator& other) const { return at_ == other.at_; }
  bool operator!=(const CountingIterator& other) const { return at_ != other.at_; }

 private:
  const char* at_;
  const char** furthest_;
};

/// What is wrong with a document, and where: keys and indices from the root.
struct Fault {
  Json::json_pointer where;
  std::string what;
};

/// Finds the byte at which the value of a pointer ends or, of an object or list, begins.
class Finder : public nlohmann::json_sax<Json> {
 public:
  Finder(const char* begin, const char** furthest, std::string wanted)
      : begin_(begin), furthest_(furthest), wanted_(std::move(wanted)) {}

  std::size_t byte() const { return byte_; }

  bool null() override { return value(); }
  bool boolean(bool /*value*/) override { return value(); }
  bool number_integer(number_integer_t /*value*/) override { return value(kReadBeyondNumber); }
  bool number_unsigned(number_unsigned_t /*value*/) override { return value(kReadBeyondNumber); }
  bool number_float(number_float_t /*value*/, const string_t& /*text*/) override { return value(kReadBeyondNumber); }
  bool string(string_t& /*value*/) override { return value(); }
  bool binary(binary_t& /*value*/) override { return value(); }
  bool start_object(std::size_t /*size*/) override { return enter(false); }
  bool start_array(std::size_t /*size*/) override { return enter(true); }
  bool key(string_t& name) override {
    key_ = name;
    return true;
  }
  bool end_object() override { return leave(); }
  bool end_array() override { return leave(); }
  bool parse_error(std::size_t /*at*/, const std::string& /*token*/, const Json::exception& /*error*/) override {
    return false;
  }

 private:
  static constexpr std::size_t kReadBeyondNumber = 1; ///< its end is known by what follows it

  struct Level {
    Json::json_pointer path;
    bool list = false;
    std::size_t next = 0;
  };

  Json::json_pointer path_of_next() {
    if (levels_.empty()) {
      return Json::json_pointer();
    }
    Level& level = levels_.back();
    return level.list ? level.path / level.next++ : level.path / key_;
  }
  bool look(const Json::json_pointer& path, std::size_t beyond) {
    if (path.to_string() != wanted_) {
      return true;
    }
    byte_ = static_cast<std::size_t>(*furthest_ - begin_) - beyond;
    return false;
  }
  bool value(std::size_t beyond = 0) { return look(path_of_next(), beyond); }
  bool enter(bool list) {
    auto path = path_of_next();
    levels_.push_back({path, list, 0});
    return look(path, 0);
  }
  bool leave() {
    levels_.pop_back();
    return true;
  }

  const char* begin_;
  const char** furthest_;
  std::string wanted_;
  std::string key_;
  std::vector<Level> levels_;
  std::size_t byte_ = 1;
};

std::size_t byte_of(const std::string& text, const Json::json_pointer& where) {
  const char* furthest = text.data();
  Finder finder(text.data(), &furthest, where.to_string());
  const char* const end = text.data() + text.size();
  Json::sax_parse(CountingIterator(text.data(), &furthest), CountingIterator(end, &furthest), &finder);
  return finder.byte();
}

std::optional<Fault> fault_of_site(const Json& site, const Json::json_pointer& at) {
  if (!site.is_object()) {
    return Fault{at, "a site is no object"};
  }
  if (!member(site, "operator").is_string()) {
    return Fault{at / "operator", "'operator' of a site is no text"};
  }
  for (const char* key : {"count", "bytes"}) {
    if (!member(site, key).is_number_unsigned()) {
      return Fault{at / key, "'" + std::string(key) + "' of a site is no whole number from 0 on"};
    }
  }
  return std::nullopt;
}

std::optional<Fault> fault_of_leak(const Json& leak, const Json::json_pointer& at) {
  if (!leak.is_object()) {
    return Fault{at, "a leak is no object"};
  }
  if (!member(leak, "kind").is_string()) {
    return Fault{at / "kind", "'kind' of a leak is no text"};
  }
  if (!member(leak, "bytes").is_number_unsigned()) {
    return Fault{at / "bytes", "'bytes' of a leak is no whole number from 0 on"};
  }
  return fault_of_site(member(leak, "site"), at / "site");
}

std::optional<Fault> fault_of(const Json& document) {
  const Json::json_pointer root;
  if (!document.is_object() || !document.contains("version") || !document.contains("leaks")) {
    return Fault{root, "no report of tensorscope: an object with 'version' and 'leaks' was expected"};
  }
  const Json& version = member(document, "version");
  if (!version.is_number_unsigned() || version.get<std::uint64_t>() != kSchemaVersion) {
    return Fault{root / "version", "version " + version.dump(-1, ' ', false, Json::error_handler_t::replace) +
                                       " of the report's schema is not known here, only version " +
                                       std::to_string(kSchemaVersion)};
  }
  for (const char* key : {"leaks", "open_sessions", "uses_after_release"}) {
    if (document.contains(key) && !member(document, key).is_array()) {
      return Fault{root / key, "'" + std::string(key) + "' is no list"};
    }
  }
  const Json& leaks = list_of(document, "leaks");
  for (std::size_t i = 0; i < leaks.size(); ++i) {
    if (auto fault = fault_of_leak(leaks[i], root / "leaks" / i)) {
      return fault;
    }
  }
  return std::nullopt;
}

/// Without the library's own place and number.
std::string reason_of(const Json::parse_error& error) {
  const std::string text = error.what();
  for (const char* mark : {"syntax error while parsing ", "parse error: "}) {
    if (const auto found = text.find(mark); found != std::string::npos) {
      return text.substr(found);
    }
  }
  return text;
}

[[noreturn]] void refuse(const std::string& name, std::size_t byte, const std::string& what) {
  std::string line = what;
  for (char& character : line) {
    character = static_cast<unsigned char>(character) < ' ' ? ' ' : static_cast<unsigned char>(character) > '~' ? '?' : character;
  }
  throw InputError(name + ": byte " + std::to_string(byte) + ": " + line);
}

struct CloseFile {
  void operator()(std::FILE* file) const {
    if (file != stdin) {
      std::fclose(file);
    }
  }
};

std::string contents_of(const std::string& path) {
  const std::unique_ptr<std::FILE, CloseFile> file(path == "-" ? stdin : std::fopen(path.c_str(), "rb"));
  std::string text;
  std::array<char, 65536> part{};
  if (file != nullptr) {
    while (const std::size_t count = std::fread(part.data(), 1, part.size(), file.get())) {
      text.append(part.data(), count);
    }
  }
  if (file == nullptr || std::ferror(file.get()) != 0) {
    throw InputError(path + ": " + std::generic_category().message(errno));
  }
  return text;
}

} // namespace

Json parse_report(const std::string& text, const std::string& name) {
  bool too_deep = false;
  const auto watch_depth = [&](int depth, Json::parse_event_t /*event*/, Json& /*value*/) {
    too_deep = too_deep || static_cast<std::size_t>(depth) > kMostDepth;
    return !too_deep;
  };
  Json document;
  try {
    document = Json::parse(text, watch_depth);
  } catch (const Json::parse_error& error) {
    if (error.byte > text.size()) {
      refuse(name, text.size(), text.empty() ? "the file is empty" : "the report breaks off here");
    }
    refuse(name, error.byte, "no JSON: " + reason_of(error));
  } catch (const Json::exception& error) { // a number that no type holds
    refuse(name, 1, std::string("no JSON: ") + error.what());
  }
  if (too_deep) {
    refuse(name, 1, "no report of tensorscope: more than " + std::to_string(kMostDepth) + " objects and lists in each other");
  }
  if (const auto fault = fault_of(document)) {
    // Of what is absent the byte is that of the object that lacks it.
    auto where = fault->where;
    while (!where.empty() && !document.contains(where)) {
      where.pop_back();
    }
    refuse(name, byte_of(text, where), fault->what);
  }
  return document;
}

Json read_report(const std::string& path) { return parse_report(contents_of(path), path == "-" ? "standard input" : path); }

} // namespace tensorscope::formats
