module example.test/toolbox

go 1.19
