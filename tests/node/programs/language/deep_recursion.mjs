// A recursion without end is an error that can be caught; how deep it goes depends on the stack alone.
let depth = 0;
const deeper = () => {
  depth++;
  deeper();
};
try {
  deeper();
} catch (error) {
  console.log(error instanceof RangeError, error.message, depth > 5000, depth < 50_000);
}
try {
  JSON.parse('['.repeat(1e5));
} catch (error) {
  console.log(error.name);
}
