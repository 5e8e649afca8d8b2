console.log('first', import.meta.main, import.meta.filename);
