#include "mlr_settings.h"

static bool read_text(const mlr_json *from, const char *name, mlr_text *into) {
  const mlr_json *member = mlr_json_member(from, name);
  if (!mlr_json_is(member, MLR_STRING)) return false;
  *into = mlr_text_of(member->string.at, member->string.length);
  return true;
}

static bool read_integer(const mlr_json *from, const char *name, int *into) {
  const mlr_json *member = mlr_json_member(from, name);
  if (!mlr_json_is(member, MLR_NUMBER) || !(member->number >= 0 && member->number <= INT32_MAX)) return false;
  *into = (int)member->number;
  return true;
}

static bool read_flag(const mlr_json *from, const char *name, bool *into) {
  const mlr_json *member = mlr_json_member(from, name);
  *into = mlr_json_is(member, MLR_TRUE);
  return *into || mlr_json_is(member, MLR_FALSE);
}

const char *mlr_settings_read(mlr_settings *settings, const mlr_json *from) {
  *settings = (mlr_settings){0};
  if (!read_text(from, "writeKey", &settings->write_key)) return "writeKey";
  if (!read_text(from, "dataPlaneUrl", &settings->data_plane_url)) return "dataPlaneUrl";
  if (!read_text(from, "controlPlaneUrl", &settings->control_plane_url)) return "controlPlaneUrl";
  if (!read_text(from, "sdkVersion", &settings->sdk_version)) return "sdkVersion";
  if (!read_integer(from, "flushQueueSize", &settings->flush_queue_size)) return "flushQueueSize";
  if (!read_integer(from, "dbThresholdCount", &settings->db_threshold_count)) return "dbThresholdCount";
  if (!read_integer(from, "logLevel", &settings->log_level)) return "logLevel";
  if (!read_flag(from, "gzip", &settings->gzip)) return "gzip";
  if (!read_flag(from, "collectDeviceId", &settings->collect_device_id)) return "collectDeviceId";
  if (!read_flag(from, "requireConsent", &settings->require_consent)) return "requireConsent";
  return NULL;
}

static mlr_text copied(const mlr_text *text) {
  return mlr_text_of(text->at, text->length);
}

mlr_settings mlr_settings_copy(const mlr_settings *settings) {
  mlr_settings copy = *settings;
  copy.write_key = copied(&settings->write_key);
  copy.data_plane_url = copied(&settings->data_plane_url);
  copy.control_plane_url = copied(&settings->control_plane_url);
  copy.sdk_version = copied(&settings->sdk_version);
  return copy;
}

void mlr_settings_free(mlr_settings *settings) {
  mlr_text_free(&settings->write_key);
  mlr_text_free(&settings->data_plane_url);
  mlr_text_free(&settings->control_plane_url);
  mlr_text_free(&settings->sdk_version);
}
