console.log('live');
export let counter = 0;
export const increment = () => counter++;
