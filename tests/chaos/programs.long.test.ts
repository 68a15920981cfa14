import { testPrograms } from './program-tests.ts'

testPrograms(() => true)
