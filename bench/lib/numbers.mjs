// Times and what is said of them.
const sorted = (numbers) => [...numbers].sort((a, b) => a - b);
export const quantile = (numbers, q) => sorted(numbers)[Math.min(numbers.length - 1, Math.floor(numbers.length * q))];
export const summary = (numbers) => ({ p50: quantile(numbers, 0.5), p90: quantile(numbers, 0.9), n: numbers.length });

export async function timed(work) {
  const started = performance.now();
  const value = await work();
  return { ms: performance.now() - started, value };
}

export const number = (value, digits = 1) => value.toFixed(digits);

// Lines of a Markdown table, in columns.
export function tableOf(header, rows) {
  const widths = header.map((title, column) => Math.max(title.length, ...rows.map((cells) => cells[column].length)));
  const line = (cells) => `| ${cells.map((cell, column) => cell.padEnd(widths[column])).join(' | ')} |`;
  return [line(header), `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`, ...rows.map(line)].join('\n');
}
