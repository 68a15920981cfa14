import { VisuallyHidden } from '@mantine/core'
import { rateText } from '../../components/figures/figure-text.ts'
import type { Flow } from './flow.ts'

/** The picture in words, for screen readers. */
export function FlowTable({ flow: { sources, destinations, lines } }: { readonly flow: Flow }) {
  const sourceOf = new Map(sources.map((node) => [node.id, node]))
  const destinationOf = new Map(destinations.map((node) => [node.id, node]))
  return (
    <VisuallyHidden component="div">
      <table>
        <caption>Connections</caption>
        <thead>
          <tr>
            <th scope="col">Source</th>
            <th scope="col">Accepted</th>
            <th scope="col">Transformations</th>
            <th scope="col">Destination</th>
            <th scope="col">State</th>
            <th scope="col">Connection</th>
          </tr>
        </thead>
        <tbody>
          {lines.map(({ id, sourceId, destinationId, isOff }) => {
            const [source, destination] = [sourceOf.get(sourceId)!, destinationOf.get(destinationId)!]
            return (
              <tr key={id}>
                <td>{source.name}</td>
                <td>{rateText(source.rate)}</td>
                <td>{destination.chain.map(({ name }) => name).join(', ')}</td>
                <td>{destination.name}</td>
                <td>{destination.state.word}</td>
                <td>{isOff ? 'off' : 'on'}</td>
              </tr>
            )
          })}
        </tbody>
      </table>
    </VisuallyHidden>
  )
}
