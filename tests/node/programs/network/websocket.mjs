// The WebSocket of browsers is there and says when it cannot connect.
const socket = new WebSocket('ws://127.0.0.1:9/');
socket.addEventListener('error', () => console.log('error'));
socket.addEventListener('close', ({ code, wasClean }) => console.log(code, wasClean));
console.log(socket.readyState, socket.url, typeof EventSource);
