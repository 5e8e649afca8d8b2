// Another zone by the variable TZ, also if it changes in the program.
// env: {"TZ": "America/New_York"}
// host: yes
const show = () =>
  console.log(new Date(0).toString(), new Date(2024, 6, 1).getTimezoneOffset(), Intl.DateTimeFormat().resolvedOptions().timeZone);
show();
process.env.TZ = 'Asia/Kolkata';
show();
delete process.env.TZ;
console.log(process.env.TZ);
