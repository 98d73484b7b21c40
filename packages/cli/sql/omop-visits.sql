-- Values of the measurements asked for, each with the day that time is counted from; in no order.
-- {concepts}: measurement_concept_id, {units}: unit_concept_id (0 for none), with commas; {index}: one of omop-index-*.sql.
-- measurement_time is not read: some exports hold a date there.
with origin as (
{index}
)
select
  cast(m.person_id as bigint) as person_id,
  cast(m.measurement_date as date) as measurement_date,
  origin.index_date as index_date,
  cast(m.value_as_number as float8) as value,
  coalesce(cast(m.operator_concept_id as bigint), 0) as operator
from measurement as m
left join origin on origin.person_id = cast(m.person_id as bigint)
where cast(m.measurement_concept_id as bigint) in ({concepts})
  and coalesce(cast(m.unit_concept_id as bigint), 0) in ({units})
