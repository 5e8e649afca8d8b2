// A database in memory and in a file, where there is one.
// stderr: yes
import { existsSync } from 'node:fs';
process.emitWarning('in any version');
const { DatabaseSync } = await import('node:sqlite').catch(() => ({}));
if (DatabaseSync) {
  for (const name of [':memory:', 'data.db']) {
    const database = new DatabaseSync(name);
    database.exec('create table t (a integer primary key, b text)');
    const insert = database.prepare('insert into t (b) values (?)');
    console.log(insert.run('one').lastInsertRowid, insert.run('zwei €').changes, database.prepare('select * from t order by a desc').all());
    database.close();
  }
}
console.log(existsSync('data.db'));
