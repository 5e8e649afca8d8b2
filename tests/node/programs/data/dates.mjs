// Dates in UTC.
// env: {"TZ": "UTC"}
// host: yes
const date = new Date(Date.UTC(2024, 1, 29, 12, 30, 15, 123));
console.log(
  date,
  date.toString(),
  date.toLocaleString(),
  date.toLocaleDateString('en-GB', { dateStyle: 'full' }),
  date.getTimezoneOffset(),
  new Date('2024-13-01'),
  Date.parse('2024-03-31T02:30'),
);
console.log(new Intl.DateTimeFormat('ja', { dateStyle: 'long', timeZone: 'Asia/Tokyo' }).format(date), typeof Temporal);
