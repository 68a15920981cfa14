import { oneOf, text } from '../../shell/search-values.ts'

export const homeSearch = { range: oneOf('1h', '24h'), focus: text }
