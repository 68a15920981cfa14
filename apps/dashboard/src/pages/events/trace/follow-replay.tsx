import { replayOutcome } from '@millrace/wording'
import { useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useEffect } from 'react'
import { isRunning, useReplay } from '../../../api/replays.ts'
import { readAgain } from '../../../api/requests/reading.ts'

/** Shows the progress of one event's replay, and reads the trace again at its end. */
export function FollowReplay({ replayId }: { readonly replayId: string }) {
  const client = useQueryClient()
  const { data: replay } = useReplay(replayId)
  const isOver = replay !== undefined && !isRunning(replay)
  useEffect(() => {
    if (isOver) readAgain(client, ['/v2/events', '/v2/dead-letters'])
  }, [client, isOver])
  return (
    <span role="status">
      Sent again as <Link to={`/replays/${replayId}`}>a replay</Link>
      {replay === undefined ? '.' : `: ${replayOutcome(replay)}.`}
    </span>
  )
}
