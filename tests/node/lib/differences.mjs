// What is not the same in two outcomes, for people: the first line that differs, not two whole outputs.

const longest = 300;
const shown = (value) => {
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length > longest ? `${text.slice(0, longest)}… (${text.length} characters)` : text;
};

function ofTexts(name, ours, bare) {
  const [our, their] = [ours.split('\n'), bare.split('\n')];
  const at = our.findIndex((line, index) => line !== their[index]);
  const index = at === -1 ? our.length : at;
  const before = index > 0 ? `\n  after:   ${shown(our[index - 1])}` : '';
  return `${name} differs in line ${index + 1}${before}\n  belljar: ${shown(our[index])}\n  bare:    ${shown(their[index])}`;
}

// '' if every field of the two is the same.
export function differences(ours, bare) {
  const names = new Set([...Object.keys(ours), ...Object.keys(bare)]);
  const found = [];
  for (const name of names) {
    if (ours[name] === bare[name]) continue;
    const texts = typeof ours[name] === 'string' && typeof bare[name] === 'string';
    found.push(texts ? ofTexts(name, ours[name], bare[name]) : `${name}: belljar: ${shown(ours[name])}, bare: ${shown(bare[name])}`);
  }
  return found.join('\n');
}
