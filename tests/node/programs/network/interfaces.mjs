// Interfaces and the names of the machine's parts.
import os from 'node:os';
console.log(
  os.networkInterfaces(),
  os.hostname().length > 0,
  os.type(),
  os.platform(),
  os.arch(),
  os.machine(),
  os.endianness(),
  os.EOL,
  os.devNull,
);
console.log(
  os.availableParallelism(),
  os.cpus().length,
  os.homedir(),
  os.tmpdir(),
  os.userInfo().username,
  os.userInfo().shell,
  os.totalmem() > os.freemem(),
  os.uptime() > 0,
  os.loadavg().length,
);
console.log(os.constants.signals.SIGTERM, os.constants.errno.ENOENT, os.version().length > 0, os.release().length > 0);
