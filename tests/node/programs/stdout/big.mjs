// More than a pipe holds arrives whole when the program ends by itself.
for (let i = 0; i < 40; i++) process.stdout.write(`${i}:${'x'.repeat(20_000)}\n`);
