#include <gmock/gmock.h>

#include "tools/advice_testing.h"

namespace belljar::tools {
namespace {

using testing::HasSubstr;

TEST(AdviceOnSyntax, TellsWhatToWriteInsteadOfAnEnum) {
  Failure failure{R"(enum A { B }
console.log(A.B);)"};
  failure.typescript();
  const char* const advice =
      "Types are only stripped, so TypeScript that makes code does not work. Instead of an enum "
      "write const Color = { red: 0, green: 1 } as const;";
  EXPECT_EQ(failure.uncaught(R"(file:///workspace/index.ts:1
enum A { B }
^^^^^^^^^^^^
console.log(A.B);

SyntaxError [ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX]: TypeScript enum is not supported in strip-only mode
    at afterResolve (node:internal/modules/esm/loader:614:52) {
  code: 'ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX'
})"),
            advice);  // Node.js 22, 24, 26
}

TEST(AdviceOnSyntax, TellsWhatToWriteInsteadOfANamespace) {
  Failure failure{R"(namespace A { export const x = 1; }
console.log(A.x);)"};
  failure.typescript();
  const char* const advice =
      "Types are only stripped, so TypeScript that makes code does not work. Instead of a "
      "namespace write a const object, or export from the module.";
  EXPECT_EQ(failure.uncaught(R"(file:///workspace/index.ts:1
namespace A { export const x = 1; }
^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
console.log(A.x);

SyntaxError [ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX]: TypeScript namespace declaration is not supported in strip-only mode
    at afterResolve (node:internal/modules/esm/loader:614:52) {
  code: 'ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX'
})"),
            advice);  // Node.js 22, 24, 26
}

TEST(AdviceOnSyntax, TellsWhatToWriteInsteadOfAParameterProperty) {
  Failure failure{R"(class A { constructor(private x: number) {} }
new A(1);)"};
  failure.typescript();
  const char* const advice =
      "Types are only stripped, so TypeScript that makes code does not work. Instead of a "
      "parameter property declare the field in the class and assign it in the constructor.";
  EXPECT_EQ(failure.uncaught(R"(file:///workspace/index.ts:1
class A { constructor(private x: number) {} }
                              ^^^^^^^^^
new A(1);

SyntaxError [ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX]: TypeScript parameter property is not supported in strip-only mode
    at afterResolve (node:internal/modules/esm/loader:614:52) {
  code: 'ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX'
})"),
            advice);  // Node.js 22, 24, 26
}

TEST(AdviceOnSyntax, TellsTheLineOfASyntaxErrorInTypeScript) {
  Failure failure{R"(const a: = 1;)"};
  failure.typescript();
  const char* const advice =
      "Syntax error in line 1: Unexpected token `=`. Expected an identifier, void, yield, null, "
      "await, break, a string literal, a n…";
  EXPECT_EQ(failure.uncaught(R"(file:///workspace/index.ts:1
const a: = 1;
         ^

SyntaxError [ERR_INVALID_TYPESCRIPT_SYNTAX]: Unexpected token `=`. Expected an identifier, void, yield, null, await, break, a string literal, a numeric literal, true, false, `, -, import, this, typeof, {, [, (
    at afterResolve (node:internal/modules/esm/loader:614:52) {
  code: 'ERR_INVALID_TYPESCRIPT_SYNTAX'
})"),
            advice);  // Node.js 22, 24, 26
}

TEST(AdviceOnSyntax, KnowsDecorators) {
  Failure failure{R"(function d(x: any, c: any) {}
@d class A {})"};
  failure.typescript();
  const char* const advice =
      "Node.js does not run decorators: call the function instead, as in A = decorate(A).";
  EXPECT_EQ(failure.uncaught(R"(file:///workspace/index.ts:2
@d class A {}
^

SyntaxError: Invalid or unexpected token
    at compileSourceTextModule (node:internal/modules/esm/utils:355:16))"),
            advice);  // Node.js 22, 24, 26
}

TEST(AdviceOnSyntax, RecognizesTypeScriptSentAsJavaScript) {
  Failure failure{R"(const a: number = 1;)"};
  const char* const advice =
      "Line 1 is TypeScript: run the program again with \"language\": \"typescript\", or remove "
      "the types.";
  EXPECT_EQ(failure.uncaught(R"(file:///workspace/index.js:1
const a: number = 1;
      ^

SyntaxError: Missing initializer in const declaration
    at compileSourceTextModule (node:internal/modules/esm/utils:355:16))"),
            advice);  // Node.js 20, 22, 24, 26
}

TEST(AdviceOnSyntax, RecognizesJsx) {
  Failure failure{R"(const a = <div>hi</div>;)"};
  const char* const advice =
      "Line 1 has JSX or HTML, which Node.js does not run: build elements with functions such as "
      "React.createElement, or put the text in a string.";
  EXPECT_EQ(failure.uncaught(R"(file:///workspace/index.js:1
const a = <div>hi</div>;
          ^

SyntaxError: Unexpected token '<'
    at compileSourceTextModule (node:internal/modules/esm/utils:355:16))"),
            advice);  // Node.js 20, 22, 24, 26
}

TEST(AdviceOnSyntax, RecognizesMarkdown) {
  Failure failure{R"(```js
console.log(1);
```)"};
  const char* const advice = "Send the program without the ``` of Markdown around it.";
  EXPECT_EQ(failure.uncaught(R"(file:///workspace/index.js:1
```js
  ^

TypeError: "" is not a function
    at file:///workspace/index.js:1:3)"),
            advice);  // Node.js 20, 22, 24, 26
}

TEST(AdviceOnSyntax, RecognizesAwaitOutsideOfAsync) {
  Failure failure{R"(function f() { await g(); })"};
  const char* const advice =
      "Line 1 uses await in a function that is not async: write async before it.";
  EXPECT_EQ(failure.uncaught(R"(file:///workspace/index.js:1
function f() { await g(); }
               ^^^^^

SyntaxError: Unexpected reserved word
    at compileSourceTextModule (node:internal/modules/esm/utils:355:16))"),
            advice);  // Node.js 20, 22, 24, 26
}

TEST(AdviceOnSyntax, RecognizesReturnAtTheTopLevel) {
  Failure failure{R"(return 1;)"};
  const char* const advice =
      "Line 1 returns outside of a function: at the top level of a module use process.exit(), or "
      "put the code in a function.";
  EXPECT_EQ(failure.uncaught(R"(file:///workspace/index.js:1
return 1;
^^^^^^

SyntaxError: Illegal return statement
    at compileSourceTextModule (node:internal/modules/esm/utils:355:16))"),
            advice);  // Node.js 20, 22, 24, 26
}

TEST(AdviceOnSyntax, RecognizesManyFormsOfTypeScript) {
  const std::pair<const char*, const char*> lines[] = {
      {"function f(a: string) { return a; }", "Unexpected token ':'"},
      {"interface A { x: number }", "Unexpected strict mode reserved word"},
      {"type A = string;", "Unexpected identifier 'A'"},
      {"let a = 1 as number;", "Unexpected identifier 'as'"},
      {"import type { A } from './a';", "Unexpected token '{'"},
      {"enum A { B }", "Unexpected reserved word"},
      {"class A { private x = 1; }", "Unexpected identifier 'x'"},
      {"const m = new Map<string, number>();", "Missing initializer in const declaration"},
      {"let x = foo!.bar;", "Unexpected token '!'"},
      {"const f = async (x: Foo): Promise<void> => {};", "missing ) after argument list"},
  };
  for (const auto& [line, message] : lines) {
    Failure failure{line};
    EXPECT_THAT(failure.uncaught(fmt::format(
                    "file:///workspace/index.js:1\n{}\n ^\n\nSyntaxError: {}", line, message)),
                HasSubstr("\"language\": \"typescript\""))
        << line;
  }
}

TEST(AdviceOnSyntax, DoesNotTakeJavaScriptForTypeScript) {
  const std::pair<const char*, const char*> lines[] = {
      {"const o = { type: String, required: true ;", "Unexpected token ';'"},
      {"const x = a ? b : ;", "Unexpected token ';'"},
      {"const o = { a: 1 b: 2 };", "Unexpected identifier 'b'"},
      {"if (a) { b: }", "Unexpected token '}'"},
      {"console.log('x' y);", "missing ) after argument list"},
      {"let x = 1; let x = 2;", "Identifier 'x' has already been declared"},
  };
  for (const auto& [line, message] : lines) {
    Failure failure{line};
    EXPECT_EQ(failure.uncaught(fmt::format(
                  "file:///workspace/index.js:1\n{}\n ^\n\nSyntaxError: {}", line, message)),
              fmt::format("Syntax error in line 1: {}", message));
  }
}

TEST(AdviceOnSyntax, LooksAtTheLineOfTheError) {
  Failure failure{"// a: string\nconst x = y z;\n"};
  EXPECT_EQ(failure.uncaught("file:///workspace/index.js:2\nconst x = y z;\n ^\n\nSyntaxError: "
                             "Unexpected identifier 'z'"),
            "Syntax error in line 2: Unexpected identifier 'z'");
}

}  // namespace
}  // namespace belljar::tools
