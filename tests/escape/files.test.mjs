// HF: hostile files in ./files of a sandbox, without FILES_DIR.
import { attackFiles } from './lib/hostile_files.mjs';
import { openJar } from './lib/jar.mjs';

attackFiles(openJar(), false);
