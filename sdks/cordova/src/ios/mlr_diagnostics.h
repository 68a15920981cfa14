/* What is told of the engine: log lines, and the report that travels with answers. contracts/cordova-sdk.md §2.3, §4. */
#ifndef MLR_DIAGNOSTICS_H
#define MLR_DIAGNOSTICS_H

#include "mlr_core.h"
#include "mlr_store.h"

enum { MLR_LEVEL_ERROR = 1, MLR_LEVEL_DEBUG = 4, MLR_LEVEL_VERBOSE = 5 };

typedef struct {
  const mlr_host *host;
  /** 0 (none) to 5 (verbose). */
  int level;
  /** The latest trouble of this process; no code: there was none. */
  mlr_text code;
  mlr_text at;
  mlr_text detail;
  /** Codes of storage that had their line. */
  mlr_map told;
} mlr_diagnostics;

void mlr_log(const mlr_diagnostics *diagnostics, int level, const mlr_text *line);
/** The latest trouble. */
void mlr_failed(mlr_diagnostics *diagnostics, const char *code, const char *detail);
/** One line per kind and run. */
void mlr_storage_failed(mlr_diagnostics *diagnostics, const char *code, const char *detail);
/** So many of the oldest events were deleted, because the disk is full. */
void mlr_storage_lost(mlr_diagnostics *diagnostics, int64_t events);
/** `"report":{…}` */
void mlr_put_report(mlr_text *to, const mlr_diagnostics *diagnostics, mlr_store *store);
void mlr_diagnostics_free(mlr_diagnostics *diagnostics);

#endif
