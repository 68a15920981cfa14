import { describe, expect, it } from 'vitest'
import { apiOver, pathWith } from './client.ts'

/** Answers every request with one answer and remembers what came. */
function serverWith(answer: () => Response | Promise<Response>, half: string | null = 'half-1') {
  const requests: { path: string; init: RequestInit }[] = []
  const ended: string[] = []
  const api = apiOver({
    fetch: async (path, init) => {
      requests.push({ path, init })
      return answer()
    },
    half: () => half,
    onEnd: (used) => void ended.push(used),
  })
  return { api, requests, ended }
}

describe('api', () => {
  it('sends the session half, the ETag that is meant and the body as JSON', async () => {
    const { api, requests } = serverWith(() => Response.json({ source: { id: 's1' } }, { headers: { ETag: '"4"' } }))
    const answer = await api('PATCH', '/v2/sources/s1', { body: { name: 'Cinema app' }, etag: '"3"' })
    expect(answer).toEqual({ body: { source: { id: 's1' } }, etag: '"4"', warning: null, stateOf: '/v2/sources/s1' })
    expect(requests[0]).toMatchObject({
      path: '/v2/sources/s1',
      init: {
        method: 'PATCH',
        credentials: 'same-origin',
        body: '{"name":"Cinema app"}',
        headers: { 'X-Millrace-Session': 'half-1', 'If-Match': '"3"' },
      },
    })
  })

  it('gives null for an answer without a body', async () => {
    const { api } = serverWith(() => new Response(null, { status: 204 }))
    expect(await api('DELETE', '/v2/sources/s1')).toMatchObject({ body: null })
  })

  it('says that no answer came', async () => {
    const { api } = serverWith(() => Promise.reject(new TypeError('Failed to fetch')))
    await expect(api('GET', '/v2/me')).rejects.toMatchObject({ kind: 'connection', status: 0 })
  })

  it('ends the session whose half is no longer taken, by the schema routes too', async () => {
    for (const answer of [
      Response.json({ error: 'Invalid Authorization Header' }, { status: 401 }),
      Response.json({ msg: 'Invalid admin credentials' }, { status: 400 }),
    ]) {
      const { api, ended } = serverWith(() => answer)
      await expect(api('GET', '/v2/me')).rejects.toMatchObject({ kind: 'session' })
      expect(ended).toEqual(['half-1'])
    }
  })

  it('ends nothing for a refusal of another kind, nor when there was no half', async () => {
    const refused = serverWith(() => Response.json({ error: 'Forbidden' }, { status: 403 }))
    await expect(refused.api('GET', '/v2/users')).rejects.toMatchObject({ kind: 'role' })
    const signIn = serverWith(() => Response.json({ error: 'Invalid Authorization Header' }, { status: 401 }), null)
    await expect(signIn.api('POST', '/v2/session')).rejects.toMatchObject({ kind: 'session' })
    expect([refused.ended, signIn.ended]).toEqual([[], []])
  })
})

describe('pathWith', () => {
  it('leaves out what is not given, and escapes the rest', () => {
    expect(pathWith('/v2/sources', { q: '', page: undefined, limit: null })).toBe('/v2/sources')
    expect(pathWith('/v2/events', { name: 'Seat & Row', limit: 50, live: false })).toBe(
      '/v2/events?name=Seat+%26+Row&limit=50&live=false',
    )
  })
})
