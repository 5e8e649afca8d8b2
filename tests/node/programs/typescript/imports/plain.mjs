import { twice } from './lib.ts';
export default twice('b');
