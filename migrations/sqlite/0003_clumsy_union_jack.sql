ALTER TABLE `deletions` ADD `certified` BIGINT;--> statement-breakpoint
ALTER TABLE `kind_state` ADD `last_complete_sweep` BIGINT;--> statement-breakpoint
ALTER TABLE `kind_state` ADD `uncertified_sweeps` BIGINT;--> statement-breakpoint
ALTER TABLE `kind_state` ADD `held_since` TIMESTAMP;--> statement-breakpoint
ALTER TABLE `kind_state` ADD `held_records` BIGINT;