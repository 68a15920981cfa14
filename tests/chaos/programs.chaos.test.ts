import { testPrograms } from './program-tests.ts'

/* What breaks most often when a change is wrong: the rest is in programs.long.test.ts. */
testPrograms((id) => ['R1', 'R12'].includes(id))
