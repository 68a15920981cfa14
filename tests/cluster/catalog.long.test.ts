import './catalog.external.test.ts'
