// How deep a recursion goes is the same: the stack is as large, and as much of it used.
let depth = 0;
const deeper = () => {
  depth++;
  deeper();
};
try {
  deeper();
} catch {}
console.log(Math.round(depth / 500));
