CREATE TABLE `drift` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`kind` text NOT NULL,
	`code` text NOT NULL,
	`field` text,
	`detail` text NOT NULL,
	`seen_at` TIMESTAMP NOT NULL
);
--> statement-breakpoint
CREATE TABLE `fields` (
	`kind` text NOT NULL,
	`field` text NOT NULL,
	`documented` integer NOT NULL,
	`type` text NOT NULL,
	`fits_hint` integer NOT NULL,
	`wire` text NOT NULL,
	`column_type` text,
	`column_scale` BIGINT,
	`position` integer NOT NULL,
	`first_seen_at` TIMESTAMP NOT NULL,
	`vanished_at` TIMESTAMP,
	PRIMARY KEY(`kind`, `field`)
);
--> statement-breakpoint
CREATE TABLE `issues` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`kind` text NOT NULL,
	`record_id` text,
	`field` text,
	`code` text NOT NULL,
	`detail` text,
	`first_seen_at` TIMESTAMP NOT NULL,
	`closed_at` TIMESTAMP
);
--> statement-breakpoint
CREATE INDEX `issues_by_kind_closed_at_record_id` ON `issues` (`kind`,`closed_at`,`record_id`);--> statement-breakpoint
CREATE TABLE `kind_state` (
	`kind` text PRIMARY KEY NOT NULL,
	`tick` BIGINT NOT NULL,
	`state` text NOT NULL,
	`reason` text,
	`complete_sweeps` BIGINT NOT NULL,
	`decoded_as` text,
	`envelope` text,
	`page_size` BIGINT,
	`last_sweep_at` TIMESTAMP,
	`certified_at` TIMESTAMP,
	`last_change_at` TIMESTAMP,
	`owner` text,
	`epoch` BIGINT NOT NULL,
	`lease_until` TIMESTAMP
);
--> statement-breakpoint
CREATE TABLE `mirror_meta` (
	`key` text PRIMARY KEY NOT NULL,
	`value` text NOT NULL
);
--> statement-breakpoint
CREATE TABLE `run_kinds` (
	`run_id` BIGINT NOT NULL,
	`kind` text NOT NULL,
	`state` text NOT NULL,
	`reason` text,
	`detail` text,
	`certified_at` TIMESTAMP,
	`pages` integer NOT NULL,
	`rows` integer NOT NULL,
	`created` integer NOT NULL,
	`updated` integer NOT NULL,
	`deleted` integer NOT NULL,
	`restored` integer NOT NULL,
	`unchanged` integer NOT NULL,
	`quarantined` integer NOT NULL,
	`requests` integer NOT NULL,
	`retries` integer NOT NULL,
	`started_at` TIMESTAMP NOT NULL,
	`duration_ms` integer NOT NULL,
	PRIMARY KEY(`run_id`, `kind`)
);
--> statement-breakpoint
CREATE TABLE `runs` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`command` text NOT NULL,
	`kinds` text NOT NULL,
	`state` text NOT NULL,
	`reason` text,
	`owner` text,
	`requested_at` TIMESTAMP NOT NULL,
	`started_at` TIMESTAMP,
	`finished_at` TIMESTAMP
);
--> statement-breakpoint
CREATE TABLE `sightings` (
	`kind` text NOT NULL,
	`answered` BIGINT NOT NULL,
	`sent` BIGINT NOT NULL,
	`run_id` BIGINT NOT NULL,
	`page` integer NOT NULL,
	`ids` text NOT NULL,
	`rows` integer NOT NULL,
	`end_rows` BIGINT,
	`total` BIGINT,
	`seen_at` TIMESTAMP NOT NULL,
	PRIMARY KEY(`kind`, `answered`)
);
