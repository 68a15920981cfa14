import type { Series } from '@millrace/api-types'

interface Course {
  /** When the last step ends, ms since 1970. */
  readonly end: number
  readonly stepMs: number
  readonly values: Series
}

/** A course whose steps that are not known, as those from before a restart, are the even share of the longer step around them. */
export function withoutGaps(course: Course, longer: Course): Series {
  const share = course.stepMs / longer.stepMs
  return course.values.map((value, at) => {
    if (value !== null) return value
    const end = course.end - (course.values.length - at - 1) * course.stepMs
    // A step ends in the longer one that it is a part of.
    const around = longer.values[longer.values.length - 1 - Math.floor((longer.end - end) / longer.stepMs)]
    return around === undefined || around === null ? null : around * share
  })
}
