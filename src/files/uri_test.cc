#include "files/uri.h"

#include <gtest/gtest.h>

#include "base/utf8.h"
#include "files/testing.h"

namespace belljar::files {
namespace {

TEST(FileUri, EncodesEverythingThatIsNotUnreserved) {
  EXPECT_EQ(to_file_uri("/a/b-c_d.e~f"), "file:///a/b-c_d.e~f");
  EXPECT_EQ(to_file_uri("/a b/ü?#%"), "file:///a%20b/%C3%BC%3F%23%25");
  EXPECT_EQ(to_file_uri("/\n\xff"), "file:///%0A%FF");
}

TEST(FileUri, ComesBackAsTheSameBytes) {
  std::string path = "/";
  for (int byte = 1; byte < 256; ++byte) path += static_cast<char>(byte);
  EXPECT_EQ(parse_file_uri(to_file_uri(path)), path);
  EXPECT_EQ(parse_file_uri("file://localhost/a%20b"), "/a b");
  EXPECT_EQ(parse_file_uri("FILE://LocalHost/a%c3%bc"), "/aü");
  EXPECT_EQ(parse_file_uri("file:///a(1)+b@c"), "/a(1)+b@c");
}

TEST(FileUri, RefusesWhatIsNoPlainFileUri) {
  for (const std::string uri : {"",
                                "a",
                                "/a",
                                "http://localhost/a",
                                "file:",
                                "file:/a",
                                "file://",
                                "file://host/a",
                                "file://localhost.evil/a",
                                "file://localhost",
                                "file://user@localhost/a",
                                "file:///a?b",
                                "file:///a#b",
                                "file:///a%00",
                                "file:///a%2Fb",
                                "file:///a%2fb",
                                "file:///a%",
                                "file:///a%1",
                                "file:///a%zz",
                                "file:///a b",
                                "file:///a\nb",
                                "file:///ü",
                                "file:///a\\b",
                                "file:///[a]"}) {
    EXPECT_EQ(error_of([&] { parse_file_uri(uri); }).code(), Code::invalid) << uri;
  }
}

TEST(DisplayName, LeavesOrdinaryNamesAlone) {
  for (const std::string name : {"a.txt", "Über 100 %.md", "日本語", "👩‍💻.js", "a'b\"c"}) {
    EXPECT_EQ(display_name(name), name);
  }
}

TEST(DisplayName, ShowsWhatWouldHideOrBreakALine) {  // HF13, HF14
  EXPECT_EQ(display_name("a\nb\r\tc"), "a\\nb\\r\\tc");
  EXPECT_EQ(display_name("\x1b[31m"), "\\u{1b}[31m");
  EXPECT_EQ(display_name("\x7f"), "\\u{7f}");
  EXPECT_EQ(display_name(std::string{"a\0b", 3}), "a\\u{0}b");
  EXPECT_EQ(display_name("\xc2\x85"), "\\u{85}");
  EXPECT_EQ(display_name("\xe2\x80\xaegpj.exe"), "\\u{202e}gpj.exe");
  EXPECT_EQ(display_name("\xe2\x81\xa6\xe2\x80\xa8"), "\\u{2066}\\u{2028}");
  EXPECT_EQ(display_name("\xf3\xa0\x81\x81"), "\\u{e0041}");
  EXPECT_EQ(display_name("\\n"), "\\\\n");
}

TEST(DisplayName, IsAlwaysUtf8) {
  for (const std::string name : {"\xff", "a\xc3", "\xed\xa0\x80", "\xc0\xaf", "\xf4\x90\x80\x80"}) {
    EXPECT_TRUE(is_utf8(display_name(name)));
    EXPECT_NE(display_name(name).find("\xef\xbf\xbd"), std::string::npos);
  }
}

}  // namespace
}  // namespace belljar::files
