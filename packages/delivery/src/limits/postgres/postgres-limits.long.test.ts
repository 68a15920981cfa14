import './postgres-limits.external.test.ts'
