import { testPrograms } from './program-tests.ts'

/** Those in which threads could lose, repeat, reorder or hold up events. */
const WITH_THREADS = ['R1', 'R2', 'R4', 'R5', 'R5b', 'R6', 'R8', 'R11', 'R12']

/** Those that kill more parts than a short form can. */
const IN_FULL = ['cluster', 'cluster-releases']

testPrograms((id) => !IN_FULL.includes(id))
testPrograms((id) => WITH_THREADS.includes(id), 4)
testPrograms((id) => IN_FULL.includes(id), undefined, 'full')
