import { accept } from './accept.ts'

// node accept-main.ts <database file>: the limit of P1 and P2.
accept(process.argv[2]!, () => {})
