import { DatabaseSync } from 'node:sqlite'

/** The program of one copy: `copy-main.ts <database> <copy>`. What went wrong is said on stderr, for the parent. */
const [from, into] = process.argv.slice(2) as [string, string]

try {
  // One statement reads one state of the database, however much is written meanwhile, and keeps no writer waiting.
  // (The online backup begins again after each commit of another connection, so under load it would never end; a copy
  // of database and WAL as files is torn by a checkpoint.)
  using database = new DatabaseSync(from, { readOnly: true, timeout: 5_000 })
  database.prepare('VACUUM INTO ?').run(into)
} catch (error) {
  process.stderr.write((error as Error).message)
  process.exitCode = 1
}
