-- How often each concept, unit and operator occurs among the measurements asked for.
-- {concepts}: measurement_concept_id, with commas.
select
  cast(measurement_concept_id as bigint) as concept,
  coalesce(cast(unit_concept_id as bigint), 0) as unit,
  coalesce(cast(operator_concept_id as bigint), 0) as operator,
  count(*) as num_rows,
  count(value_as_number) as num_values
from measurement
where cast(measurement_concept_id as bigint) in ({concepts})
group by 1, 2, 3
