import { describe, expect, it } from 'vitest'
import { etagForSave, inputAfterSave } from './edited-base.ts'

describe('etagForSave', () => {
  const base = { members: { name: 'Hook', config: { url: 'https://a.example' } }, etag: '"1"' }
  it('takes the newest ETag when other members changed', () => {
    expect(etagForSave(base, { members: structuredClone(base.members), etag: '"2"' })).toBe('"2"')
  })

  it('keeps the ETag of the base when edited members changed, or nothing is known', () => {
    expect(etagForSave(base, { members: { ...base.members, name: 'Theirs' }, etag: '"2"' })).toBe('"1"')
    expect(etagForSave(base, undefined)).toBe('"1"')
  })
})

describe('inputAfterSave', () => {
  it('keeps members that were changed while the save was in flight, and takes the others from the server', () => {
    const sent = { name: 'Hook', config: { secret: 'abc' }, consent: null }
    const written = { ...sent, name: 'Hook 2' }
    const saved = { name: 'Hook', config: { secret: '********' }, consent: null }
    expect(inputAfterSave(written, sent, saved)).toEqual({ ...saved, name: 'Hook 2' })
    expect(inputAfterSave(sent, sent, saved)).toEqual(saved)
  })
})
