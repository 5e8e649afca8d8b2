// A stack trace names the lines of the source.
// exit: 1
// stderr: yes
type Unused = {
  a: string;
};

function fail(reason: string): never {
  throw new Error(reason);
}
fail('in line 9');
