// Variables that other programs know, and that Node.js must leave alone.
// env: {"NODE_ENV": "production", "NODE_EXTRA": "1", "DEBUG": "*", "npm_config_x": "y", "NODE_CHANNEL_X": "3", "PORT": "8080", "CI": "true", "TERM": "dumb", "COLUMNS": "40"}
console.log(process.env, process.stdout.columns, process.channel, process.connected);
