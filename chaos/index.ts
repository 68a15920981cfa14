export { type Program, seconds } from './program.ts'
export { programs } from './programs.ts'
export { carryOut } from './run.ts'
