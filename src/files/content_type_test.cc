#include "files/content_type.h"

#include <gtest/gtest.h>

namespace belljar::files {
namespace {

std::string mime(std::string_view name, std::string_view content) {
  return content_type(name, content, Part::whole).mime;
}

TEST(ContentType, KnowsImagesByTheirFirstBytes) {
  EXPECT_EQ(mime("a", "\x89PNG\r\n\x1a\n...."), "image/png");
  EXPECT_EQ(mime("a", "\xff\xd8\xff\xe0.."), "image/jpeg");
  EXPECT_EQ(mime("a", "GIF89a.."), "image/gif");
  EXPECT_EQ(mime("a", "GIF87a.."), "image/gif");
  EXPECT_EQ(mime("a", "RIFF\x10\x20\x30\x40WEBPVP8 "), "image/webp");
  EXPECT_EQ(mime("a", "RIFF\x10\x20\x30\x40WAVEfmt \xff"), "application/octet-stream");
  EXPECT_FALSE(content_type("a", "\x89PNG\r\n\x1a\n", Part::whole).is_text);
  EXPECT_TRUE(content_type("a", "GIF89a", Part::whole).is_image());
}

TEST(ContentType, KnowsPdfAndArchives) {
  EXPECT_EQ(mime("a", "%PDF-1.7\n"), "application/pdf");
  EXPECT_EQ(mime("a", "PK\x03\x04..\xff"), "application/zip");
  EXPECT_EQ(mime("a", "\x1f\x8b\x08\xff"), "application/gzip");
}

TEST(ContentType, LetsTheContentWinOverTheName) {  // HF17
  EXPECT_EQ(mime("a.png", "<html>"), "text/plain");
  EXPECT_EQ(mime("a.json", "\xff\xfe"), "application/octet-stream");
  EXPECT_EQ(mime("a.txt", "\x89PNG\r\n\x1a\n"), "image/png");
  EXPECT_EQ(mime("a.svg", "hello"), "text/plain");
  EXPECT_EQ(mime("a.png", "\xff\xd8\xff"), "image/jpeg");
  EXPECT_EQ(mime("a.png", ""), "text/plain");
}

TEST(ContentType, TellsHarmlessKindsOfTextApartByName) {
  EXPECT_EQ(mime("a.json", "{}"), "application/json");
  EXPECT_EQ(mime("A.CSV", "a,b"), "text/csv");
  EXPECT_EQ(mime("read.me.md", "# a"), "text/markdown");
  EXPECT_EQ(mime("a.css", "a{}"), "text/css");
  EXPECT_EQ(mime("json", "{}"), "text/plain");
}

TEST(ContentType, NeverSaysHtmlOrScript) {  // HF16, HF17
  for (const char* name : {"a.html", "a.htm", "a.xhtml", "a.xml", "a.js", "a.mjs", "a.ts", "a"}) {
    EXPECT_EQ(mime(name, "<!DOCTYPE html><script>alert(1)</script>"), "text/plain") << name;
  }
}

TEST(ContentType, KnowsSvgBehindItsPreamble) {
  for (const char* content :
       {"<svg>", "<svg/>", "<svg xmlns='x'>", "\xef\xbb\xbf <svg\n>",
        "<?xml version=\"1.0\"?>\n<!-- a > b -->\n<!DOCTYPE svg PUBLIC \"x\" \"y\">\n<svg >"}) {
    EXPECT_EQ(mime("a", content), "image/svg+xml") << content;
    EXPECT_TRUE(content_type("a", content, Part::whole).is_text);
  }
}

TEST(ContentType, TakesNothingElseForSvg) {
  const std::string late = "<!--" + std::string(2000, ' ') + "--><svg>";
  const std::string content[] = {"<svg",
                                 "<svgx>",
                                 "x<svg>",
                                 "<html><svg>",
                                 "<!DOCTYPE html><svg>",
                                 "<!DOCTYPE svg [<!ENTITY a \"aaaa\">]><svg>",
                                 "<?xml <svg>",
                                 "<!-- <svg>",
                                 "<?xml-stylesheet href='x'?><svg>",
                                 late,
                                 ""};
  for (const std::string& text : content) EXPECT_EQ(mime("a.svg", text), "text/plain") << text;
  EXPECT_EQ(mime("a.svg", "<svg>\xff"), "application/octet-stream");
  EXPECT_EQ(mime("a.svg", std::string_view{"<svg>\0", 6}), "application/octet-stream");
}

TEST(ContentType, ForgivesACharacterThatTheEndCutsOnlyInABeginning) {
  EXPECT_TRUE(content_type("a", "abc\xc3", Part::beginning).is_text);
  EXPECT_FALSE(content_type("a", "abc\xc3", Part::whole).is_text);
  EXPECT_FALSE(content_type("a", "ab\xc3yc", Part::beginning).is_text);
}

}  // namespace
}  // namespace belljar::files
