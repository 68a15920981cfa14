import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import { TestPlane } from '../testing/test-plane.ts'

/* The head of a request is authorised at once; its body may take a minute. */

interface Ids {
  readonly userId: string
  readonly tokenId: string
}

const REQUESTS = [
  { url: '/v2/access-tokens', body: { name: 'stays', role: 'admin' } },
  { url: '/v2/users', body: { email: 'mallory@cinema.example', role: 'admin' } },
  { url: '/v2/sources', body: { name: 'Web', type: 'Javascript' } },
]

test.each<[string, number, (plane: TestPlane, ids: Ids) => Promise<unknown>]>([
  ['its token is revoked', 401, (plane, { tokenId }) => plane.ok('DELETE', `/v2/access-tokens/${tokenId}`)],
  ['its user is removed', 401, (plane, { userId }) => plane.ok('DELETE', `/v2/users/${userId}`)],
  [
    'its user becomes a viewer',
    403,
    (plane, { userId }) => plane.ok('PATCH', `/v2/users/${userId}`, { role: 'viewer' }),
  ],
])('a request is refused if, before its body has arrived, %s: it answers %i', async (_, status, change) => {
  for (const { url, body } of REQUESTS) {
    await using plane = await TestPlane.open()
    const { token, user } = await plane.ok('POST', '/v2/users', { email: 'eve@cinema.example', role: 'admin' })
    const tokenOfUser = async () => {
      const { accessTokens } = await plane.ok('GET', '/v2/access-tokens')
      return accessTokens.find(({ userId }: { userId: string }) => userId === user.id)
    }
    const payload = new PassThrough()
    const headers = { authorization: `Bearer ${token}`, 'transfer-encoding': 'chunked' }
    const answer = plane.app.inject({ method: 'POST', url, headers, payload })
    await expect.poll(async () => (await tokenOfUser()).lastUsedAt).not.toBeNull()
    await change(plane, { userId: user.id, tokenId: (await tokenOfUser()).id })
    payload.end(JSON.stringify(body))
    expect({ url, status: (await answer).statusCode }).toEqual({ url, status })
  }
})
