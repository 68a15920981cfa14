import { DatabaseSync } from 'node:sqlite'

/** The program of one copy: `copy-main.ts <database> <copy>`. It writes errors to stderr, for the parent. */
const [from, into] = process.argv.slice(2) as [string, string]

try {
  // One statement reads one state of the database, whatever is written meanwhile, and blocks no writer. (The online
  // backup restarts after each commit of another connection, so under load it would never end. Copying database and WAL
  // as files fails if a checkpoint runs meanwhile.)
  using database = new DatabaseSync(from, { readOnly: true, timeout: 5_000 })
  database.prepare('VACUUM INTO ?').run(into)
} catch (error) {
  process.stderr.write((error as Error).message)
  process.exitCode = 1
}
