#include "mlr_diagnostics.h"

#include <string.h>

enum { DETAIL_CHARACTERS = 200 };

void mlr_log(const mlr_diagnostics *diagnostics, int level, const mlr_text *line) {
  if (level <= diagnostics->level) diagnostics->host->log(diagnostics->host->self, level, line->at);
}

void mlr_failed(mlr_diagnostics *diagnostics, const char *code, const char *detail) {
  mlr_text_free(&diagnostics->code);
  mlr_text_free(&diagnostics->at);
  mlr_text_free(&diagnostics->detail);
  mlr_put(&diagnostics->code, code);
  mlr_put_time(&diagnostics->at, diagnostics->host->now(diagnostics->host->self));
  mlr_put_bytes(&diagnostics->detail, detail, mlr_start(detail, strlen(detail), DETAIL_CHARACTERS));
}

void mlr_storage_failed(mlr_diagnostics *diagnostics, const char *code, const char *detail) {
  mlr_failed(diagnostics, code, detail);
  if (mlr_map_find(&diagnostics->told, code) != NULL) return;
  mlr_map_put(&diagnostics->told, code, "", 0);
  mlr_text line = {0};
  mlr_put(&line, "Storage failed (");
  mlr_put(&line, code);
  mlr_put(&line, "): ");
  mlr_put(&line, detail);
  mlr_log(diagnostics, MLR_LEVEL_ERROR, &line);
  mlr_text_free(&line);
}

void mlr_storage_lost(mlr_diagnostics *diagnostics, int64_t events) {
  static const char CODE[] = "STORAGE_FULL";
  mlr_text line = {0};
  mlr_put(&line, CODE);
  mlr_put(&line, " the ");
  mlr_put_number(&line, events);
  mlr_put(&line, " oldest events were deleted");
  mlr_failed(diagnostics, CODE, line.at + sizeof CODE);
  mlr_log(diagnostics, MLR_LEVEL_ERROR, &line);
  mlr_text_free(&line);
}

void mlr_put_report(mlr_text *to, const mlr_diagnostics *diagnostics, mlr_store *store) {
  static const char *const COUNTERS[] = {"trimmed", "refused", "purged"};
  mlr_text dropped = {0};
  for (size_t at = 0; at < sizeof COUNTERS / sizeof *COUNTERS; at++) {
    mlr_put(&dropped, at == 0 ? "{" : ",");
    mlr_put_json(&dropped, COUNTERS[at], strlen(COUNTERS[at]));
    mlr_put(&dropped, ":");
    mlr_put_number(&dropped, mlr_store_counter(store, COUNTERS[at]));
  }
  mlr_put(to, "\"report\":{\"storage\":\"");
  mlr_put(to, mlr_store_kind(store));
  mlr_put(to, "\",\"dropped\":");
  mlr_put_bytes(to, dropped.at, dropped.length);
  mlr_put(to, "}");
  mlr_text_free(&dropped);
  if (diagnostics->code.length > 0) {
    mlr_put(to, ",\"lastError\":{\"code\":\"");
    mlr_put_bytes(to, diagnostics->code.at, diagnostics->code.length);
    mlr_put(to, "\",\"at\":\"");
    mlr_put_bytes(to, diagnostics->at.at, diagnostics->at.length);
    mlr_put(to, "\",\"detail\":");
    mlr_put_json(to, diagnostics->detail.at, diagnostics->detail.length);
    mlr_put(to, "}");
  }
  mlr_put(to, "}");
}

void mlr_diagnostics_free(mlr_diagnostics *diagnostics) {
  mlr_text_free(&diagnostics->code);
  mlr_text_free(&diagnostics->at);
  mlr_text_free(&diagnostics->detail);
  mlr_map_clear(&diagnostics->told);
}
