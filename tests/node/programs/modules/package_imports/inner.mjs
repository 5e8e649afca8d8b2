export default 'inner';
