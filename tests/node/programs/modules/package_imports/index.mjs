// Packages with conditions, patterns and subpath imports.
import inner from '#inner';
import { format } from 'both';
import feature from 'both/features/x';
console.log(inner, format, feature, import.meta.resolve('both'), import.meta.resolve('#inner'));
for (const name of ['both/secret', '#missing', 'both/features/missing']) {
  try {
    await import(name);
  } catch (error) {
    console.log(error.code, error.message);
  }
}
