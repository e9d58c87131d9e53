CREATE TABLE `outbox_keys` (
	`idempotency_key` text PRIMARY KEY NOT NULL,
	`outbox_id` BIGINT NOT NULL,
	`kind` text NOT NULL,
	`operation` text NOT NULL,
	`record_id` text,
	`state` text NOT NULL,
	`request_hash` text NOT NULL,
	`base_hash` text,
	`ended_at` TIMESTAMP NOT NULL
);
--> statement-breakpoint
CREATE INDEX `outbox_keys_by_kind_record_id` ON `outbox_keys` (`kind`,`record_id`);--> statement-breakpoint
CREATE UNIQUE INDEX `outbox_keys_outbox_id` ON `outbox_keys` (`outbox_id`);--> statement-breakpoint
CREATE TABLE `unlisted_rows` (
	`kind` text NOT NULL,
	`record_id` text NOT NULL,
	PRIMARY KEY(`kind`, `record_id`)
);
--> statement-breakpoint
ALTER TABLE `deletions` ADD `certified` BIGINT;--> statement-breakpoint
ALTER TABLE `fields` ADD `text_column` text;--> statement-breakpoint
ALTER TABLE `fields` ADD `text_position` BIGINT;--> statement-breakpoint
ALTER TABLE `kind_state` ADD `system_ids` text;--> statement-breakpoint
ALTER TABLE `kind_state` ADD `last_complete_sweep` BIGINT;--> statement-breakpoint
ALTER TABLE `kind_state` ADD `uncertified_sweeps` BIGINT;--> statement-breakpoint
ALTER TABLE `kind_state` ADD `held_since` TIMESTAMP;--> statement-breakpoint
ALTER TABLE `kind_state` ADD `held_records` BIGINT;--> statement-breakpoint
ALTER TABLE `runs` ADD `lease_until` TIMESTAMP;