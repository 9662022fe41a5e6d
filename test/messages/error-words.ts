/**
 * Slack's error words, common ones and those of each method that the bot calls. Source: the pages of
 * docs.slack.dev/reference/methods as slack_kit 1.0.0-alpha.0 mirrors them (read 2026-05-26), and those added since to the page
 * of chat.postMessage (September 2026): `agent_prompt_display_not_allowed`, `app_access_restricted`,
 * `send_on_behalf_not_allowed`. Slack says that no list is complete.
 */
export const commonWords = words(`
  access_denied accesslimited account_inactive deprecated_endpoint ekm_access_denied enterprise_is_restricted fatal_error
  internal_error invalid_arg_name invalid_arguments invalid_array_arg invalid_auth invalid_charset invalid_form_data
  invalid_post_type method_deprecated missing_post_type missing_scope no_permission not_allowed_token_type not_authed
  org_login_required ratelimited request_timeout service_unavailable team_access_not_granted team_added_to_org
  token_expired token_revoked two_factor_setup_required`);

export const wordsOf = {
  'chat.postMessage': words(`
    agent_prompt_display_not_allowed app_access_restricted as_user_not_supported attachment_payload_limit_exceeded
    cannot_reply_to_message channel_not_found draft_already_deleted draft_already_sent draft_has_conflict draft_not_found
    duplicate_channel_not_found duplicate_message_not_found invalid_blocks invalid_blocks_format invalid_metadata_format
    invalid_metadata_schema is_archived markdown_text_conflict message_limit_exceeded messages_tab_disabled
    metadata_must_be_sent_from_app metadata_too_large missing_file_data msg_blocks_too_long no_text not_in_channel
    rate_limited restricted_action restricted_action_non_threadable_channel restricted_action_read_only_channel
    restricted_action_thread_locked restricted_action_thread_only_channel send_on_behalf_not_allowed
    slack_connect_canvas_sharing_blocked slack_connect_file_link_sharing_blocked slack_connect_lists_sharing_blocked
    team_not_found too_many_attachments too_many_contact_cards`),
  'chat.postEphemeral': words(`
    cannot_reply_to_message channel_not_found invalid_attachments invalid_blocks invalid_blocks_format is_archived
    markdown_text_conflict message_limit_exceeded messages_tab_disabled msg_too_long no_text not_in_channel
    restricted_action too_many_attachments user_not_in_channel`),
  'chat.update': words(`
    as_user_not_supported block_mismatch blocked_file_type cant_broadcast_message cant_update_message channel_not_found
    edit_window_closed external_channel_migrating file_deleted file_is_deleted file_not_found file_share_limit_reached
    invalid_attachments invalid_blocks invalid_blocks_format invalid_metadata_format invalid_metadata_schema is_inactive
    markdown_text_conflict max_file_sharing_exceeded message_limit_exceeded message_not_found
    metadata_must_be_sent_from_app metadata_too_large msg_too_long no_dual_broadcast_content_update no_text
    posting_to_channel_denied slack_connect_blocked_file_type slack_connect_canvas_sharing_blocked
    slack_connect_clip_sharing_blocked slack_connect_file_link_sharing_blocked slack_connect_file_upload_sharing_blocked
    streaming_state_conflict team_not_found too_many_attachments unable_to_share_files update_failed`),
  'conversations.history': words(`
    channel_is_limited_access channel_not_found invalid_cursor invalid_metadata_filter_keys invalid_ts_latest
    invalid_ts_oldest not_in_channel`),
  'conversations.replies': words(`
    channel_not_found invalid_cursor invalid_metadata_filter_keys invalid_ts_latest invalid_ts_oldest
    list_record_comment_fetch_failed method_not_supported_for_channel_type thread_not_found`),
  'conversations.info': words('channel_is_limited_access channel_not_found'),
  'conversations.members': words(`
    channel_not_found fetch_members_failed invalid_cursor invalid_limit method_not_supported_for_channel_type`),
  'auth.test': [],
  'apps.connections.open': words('forbidden_team insecure_request missing_args'),
  'files.getUploadURLExternal': words(`
    alt_txt_too_large file_type_not_allowed file_upload_size_restricted file_uploads_disabled
    file_uploads_except_images_disabled missing_argument snippet_too_large storage_limit_reached unknown_snippet_type
    unknown_subtype`),
  'files.completeUploadExternal': words(`
    channel_not_found channels_limit_exceeded file_not_found file_type_not_allowed file_update_failed
    file_uploads_except_images_disabled invalid_blocks invalid_channel not_in_channel posting_to_channel_denied`),
  'usergroups.list': words(
    'invalid_cursor invalid_team missing_argument plan_upgrade_required users_not_found',
  ),
  'usergroups.users.list': words('invalid_cursor no_such_subteam plan_upgrade_required'),
  'users.info': words('too_many_users user_not_found user_not_visible'),
  'views.open': words(`
    duplicate_external_id exchanged_trigger_id expired_trigger_id invalid_trigger_id view_too_large`),
  'views.push': words(`
    duplicate_external_id exchanged_trigger_id expired_trigger_id invalid_trigger_id not_found push_limit_reached
    view_too_large`),
  'views.update': words('duplicate_external_id hash_conflict not_found view_too_large'),
  'views.publish': words(`
    duplicate_external_id hash_conflict missing_profile_id not_enabled not_implemented view_too_large`),
} satisfies Record<string, readonly string[]>;

function words(text: string): readonly string[] {
  return text.trim().split(/\s+/);
}
