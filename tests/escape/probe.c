// Makes system calls by number, for the escape tests. Freestanding and static: a few kilobytes that
// a test carries into the sandbox, and nothing between the number and the kernel.
//
//   probe call 'LABEL ABI NR ARG…' …   one call each
//   probe sweep ABI VALUE BITS         every number from 0 to 1023 and some odd ones, with BITS set
//   in
//                                      the number; all arguments are VALUE
//   probe clone FLAGS COUNT            COUNT children with these flags that exit with 77 at once
//
// ABI is native, x32 (bit 30 of the number) or i386 (int 0x80). An ARG is a number (decimal, 0x…,
// negative), s:TEXT (a string), z:SIZE (zeroed memory) or b:HEX (bytes). Prints one line of JSON
// per call: {"label":…,"result":…} with -errno as result, or "signal":N if the call killed the
// process; "result":null if it never came back (it exited, or blocked until the timer: signal 14).
typedef long word;
typedef unsigned long uword;

#if defined(__x86_64__)
enum { WRITE = 1, MMAP = 9, SETITIMER = 38, CLONE = 56, WAIT4 = 61, EXIT_GROUP = 231 };

static word call(word nr, const word* a) {
  register word r10 __asm__("r10") = a[3];
  register word r8 __asm__("r8") = a[4];
  register word r9 __asm__("r9") = a[5];
  word result;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(nr), "D"(a[0]), "S"(a[1]), "d"(a[2]), "r"(r10), "r"(r8), "r"(r9)
                   : "rcx", "r11", "memory");
  return result;
}

// The 32-bit entry, reachable from 64-bit code. Its ebp is not loaded: no probe has six arguments.
static word call_i386(word nr, const word* a) {
  word result;
  __asm__ volatile("int $0x80"
                   : "=a"(result)
                   : "a"(nr), "b"(a[0]), "c"(a[1]), "d"(a[2]), "S"(a[3]), "D"(a[4])
                   : "r8", "r9", "r10", "r11", "memory");
  return (int)result;
}

__asm__(".globl _start\n_start: mov %rsp, %rdi\n and $-16, %rsp\n call start\n");
#elif defined(__aarch64__)
enum { WRITE = 64, MMAP = 222, SETITIMER = 103, CLONE = 220, WAIT4 = 260, EXIT_GROUP = 94 };

static word call(word nr, const word* a) {
  register word x8 __asm__("x8") = nr;
  register word x0 __asm__("x0") = a[0];
  register word x1 __asm__("x1") = a[1];
  register word x2 __asm__("x2") = a[2];
  register word x3 __asm__("x3") = a[3];
  register word x4 __asm__("x4") = a[4];
  register word x5 __asm__("x5") = a[5];
  __asm__ volatile("svc 0"
                   : "+r"(x0)
                   : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
                   : "memory");
  return x0;
}

static word call_i386(word nr, const word* a) {
  (void)nr, (void)a;
  return -38;  // arm64 has no second entry for 64-bit code
}

__asm__(".globl _start\n_start: mov x0, sp\n bl start\n");
#else
#error "the calling convention of this machine is not known"
#endif

static word sys(word nr, word a, word b, word c, word d, word e, word f) {
  const word arguments[6] = {a, b, c, d, e, f};
  return call(nr, arguments);
}

// The compiler asks for these even when there is no library.
void* memset(void* to, int value, uword size) {
  for (uword i = 0; i < size; ++i) ((volatile char*)to)[i] = (char)value;
  return to;
}
void* memcpy(void* to, const void* from, uword size) {
  for (uword i = 0; i < size; ++i) ((volatile char*)to)[i] = ((const char*)from)[i];
  return to;
}

static char line[512];
static uword used;

static void put(const char* text) {
  while (*text && used < sizeof line - 1) line[used++] = *text++;
}
static void put_number(word number) {
  char digits[24];
  int count = 0;
  uword rest = number < 0 ? 0 - (uword)number : (uword)number;
  do digits[count++] = (char)('0' + rest % 10);
  while (rest /= 10);
  if (number < 0) put("-");
  while (count) line[used++] = digits[--count];
}
static void flush(void) {
  sys(WRITE, 1, (word)line, (word)used, 0, 0, 0);
  used = 0;
}

static int is(const char* a, const char* b) {
  while (*a && *a == *b) ++a, ++b;
  return *a == *b;
}

static word parse_number(const char* text) {
  const int negative = *text == '-';
  uword value = 0;
  if (negative) ++text;
  const int hex = text[0] == '0' && text[1] == 'x';
  for (text += hex ? 2 : 0; *text; ++text) {
    const char c = *text;
    value = value * (hex ? 16 : 10) + (uword)(c <= '9' ? c - '0' : (c | 32) - 'a' + 10);
  }
  return negative ? (word)(0 - value) : (word)value;
}

static char memory[65536] __attribute__((aligned(4096)));
static uword taken;

static word parse_argument(char* text) {
  if (text[0] == 's' && text[1] == ':') return (word)(text + 2);
  char* start = memory + taken;
  if (text[0] == 'z' && text[1] == ':') {
    taken += ((uword)parse_number(text + 2) + 15) & ~15ul;
    return (word)start;
  }
  if (text[0] == 'b' && text[1] == ':') {
    for (text += 2; text[0] && text[1]; text += 2) {
      const char byte[] = {'0', 'x', text[0], text[1], 0};
      memory[taken++] = (char)parse_number(byte);
    }
    taken = (taken + 15) & ~15ul;
    return (word)start;
  }
  return parse_number(text);
}

enum { kNever = 0x7fffffffffffffff };
static volatile word* shared;  // what the child's call returned
enum Abi { NATIVE, X32, I386 };

// Makes the call in a child, so that neither its death nor its success harms this process; its
// status, or -1 if there was no child.
static int attempt(enum Abi abi, word nr, const word* arguments, word micros) {
  *shared = kNever;
  const word child = sys(CLONE, 17, 0, 0, 0, 0, 0);
  if (child == 0) {
    const word timer[4] = {0, 0, 0, micros};
    sys(SETITIMER, 0, (word)timer, 0, 0, 0, 0);
    *shared =
        abi == I386 ? call_i386(nr, arguments) : call(abi == X32 ? nr | 0x40000000 : nr, arguments);
    sys(EXIT_GROUP, 0, 0, 0, 0, 0, 0);
  }
  int status = -1;
  if (child > 0) sys(WAIT4, child, (word)&status, 0x40000000 /* __WALL */, 0, 0, 0);
  return status;
}

enum { kAlarm = 14 };

// Prints what became of the call. One that seems to block gets ten times as long: on a busy machine
// the child may have had no time to make it.
static void probe(const char* label, enum Abi abi, word nr, const word* arguments, word micros,
                  word bits) {
  int status = attempt(abi, nr | bits, arguments, micros);
  if (status > 0 && (status & 0x7f) == kAlarm)
    status = attempt(abi, nr | bits, arguments, micros * 10);
  put("{\"label\":\"");
  if (label) put(label);
  if (!label) put_number(nr);
  put("\",\"result\":");
  if (status < 0) put("\"fork failed\"");
  if (status >= 0 && *shared == kNever) put("null");
  if (status >= 0 && *shared != kNever) put_number(*shared);
  if (status > 0 && (status & 0x7f)) {
    put(",\"signal\":");
    put_number(status & 0x7f);
  }
  put("}\n");
  flush();
}

static enum Abi parse_abi(const char* text) {
  return is(text, "x32") ? X32 : is(text, "i386") ? I386 : NATIVE;
}

static void run_calls(char** texts) {
  for (; *texts; ++texts) {
    char* words[9] = {0};
    int count = 0;
    for (char* at = *texts; *at && count < 9;) {
      words[count++] = at;
      while (*at && *at != ' ') ++at;
      if (*at) *at++ = 0;
    }
    word arguments[6] = {0};
    taken = 0;
    memset(memory, 0, sizeof memory);
    for (int i = 3; i < count; ++i) arguments[i - 3] = parse_argument(words[i]);
    probe(words[0], parse_abi(words[1]), parse_number(words[2]), arguments, 100000, 0);
  }
}

static void sweep(enum Abi abi, word value, word bits) {
  const word arguments[6] = {value, value, value, value, value, value};
  for (word nr = 0; nr < 1024; ++nr) probe(0, abi, nr, arguments, 20000, bits);
  const word odd[] = {-1, 9999, 0x7fffffff, 0x80000000, 0xffffffff, -9999};
  for (uword i = 0; i < sizeof odd / sizeof *odd; ++i)
    probe(0, abi, odd[i], arguments, 20000, bits);
}

static void make_children(word flags, word count) {
  word made = 0;
  word error = 0;
  while (made < count) {
    const word child = sys(CLONE, flags, 0, 0, 0, 0, 0);
    if (child == 0) sys(EXIT_GROUP, 77, 0, 0, 0, 0, 0);
    if (child == -11) continue;  // as many as there may be: until some were reaped
    if (child < 0) error = child;
    if (child < 0) break;
    ++made;
  }
  put("{\"label\":\"clone\",\"made\":");
  put_number(made);
  put(",\"result\":");
  put_number(error);
  put("}\n");
  flush();
}

__attribute__((noreturn, used)) void start(word* stack) {
  char** argv = (char**)(stack + 1);
  const word argc = stack[0];
  shared = (volatile word*)sys(MMAP, 0, 4096, 3, 0x21 /* shared, anonymous */, -1, 0);
  if (argc > 2 && is(argv[1], "call")) run_calls(argv + 2);
  if (argc == 5 && is(argv[1], "sweep"))
    sweep(parse_abi(argv[2]), parse_number(argv[3]), parse_number(argv[4]));
  if (argc == 4 && is(argv[1], "clone"))
    make_children(parse_number(argv[2]), parse_number(argv[3]));
  sys(EXIT_GROUP, argc > 2 ? 0 : 2, 0, 0, 0, 0, 0);
  __builtin_unreachable();
}
