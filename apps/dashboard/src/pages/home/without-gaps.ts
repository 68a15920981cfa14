import type { Series } from '@millrace/api-types'

interface Course {
  /** End of the last step, ms since 1970. */
  readonly end: number
  readonly stepMs: number
  readonly values: Series
}

/** Fills unknown short steps, for example before a restart, with an even share of the longer step around them. */
export function withoutGaps(course: Course, longer: Course): Series {
  const share = course.stepMs / longer.stepMs
  return course.values.map((value, at) => {
    if (value !== null) return value
    const end = course.end - (course.values.length - at - 1) * course.stepMs
    // A short step ends inside the long step that contains it.
    const around = longer.values[longer.values.length - 1 - Math.floor((longer.end - end) / longer.stepMs)]
    return around === undefined || around === null ? null : around * share
  })
}
