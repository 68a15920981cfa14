import { connect } from 'node:net'

/**
 * Sends bytes as they are on a connection of their own.
 *
 * @returns all that comes until the server closes the connection.
 */
export function sendRaw(url: string, bytes: string): Promise<string> {
  return new Promise((resolve) => {
    const { hostname, port } = new URL(url)
    let text = ''
    const socket = connect(Number(port), hostname, () => socket.write(bytes))
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1')
    })
    // A reset after the answer is a close like any other.
    socket.on('error', () => {})
    socket.once('close', () => resolve(text))
  })
}
