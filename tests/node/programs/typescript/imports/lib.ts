export type Pair = [string, string];
export const twice = (text: string): Pair => [text, text];
